/*
 * char_class: the table.
 */
#include "proto/char_class.h"

#define V CHAR_CLASS_VALUE
#define T (CHAR_CLASS_VALUE | CHAR_CLASS_TARGET)
#define H (CHAR_CLASS_VALUE | CHAR_CLASS_TOKEN)
#define K (CHAR_CLASS_VALUE | CHAR_CLASS_TARGET | CHAR_CLASS_TOKEN)
#define S (CHAR_CLASS_VALUE | CHAR_CLASS_TARGET | CHAR_CLASS_HOST)
#define A (CHAR_CLASS_VALUE | CHAR_CLASS_TARGET | CHAR_CLASS_TOKEN |	\
    CHAR_CLASS_HOST)
const uint8_t char_class_table[256] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, V, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
     /* SP !  "  #  $  %  &  '  (  )  *  +  ,  -  .  /  */
	V, A, T, H, A, K, A, A, S, S, A, A, S, A, A, T,
     /* 0  1  2  3  4  5  6  7  8  9  :  ;  <  =  >  ?  */
	A, A, A, A, A, A, A, A, A, A, T, S, T, S, T, T,
     /* @  A  B  C  D  E  F  G  H  I  J  K  L  M  N  O  */
	T, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A,
     /* P  Q  R  S  T  U  V  W  X  Y  Z  [  \  ]  ^  _  */
	A, A, A, A, A, A, A, A, A, A, A, T, T, T, K, A,
     /* `  a  b  c  d  e  f  g  h  i  j  k  l  m  n  o  */
	K, A, A, A, A, A, A, A, A, A, A, A, A, A, A, A,
     /* p  q  r  s  t  u  v  w  x  y  z  {  |  }  ~ DEL */
	A, A, A, A, A, A, A, A, A, A, A, T, K, T, A, 0,
	[0x80 ... 0xff] = V
};
#undef V
#undef T
#undef H
#undef K
#undef S
#undef A
