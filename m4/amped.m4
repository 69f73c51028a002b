dnl Macros of amped's own configure.ac.

dnl AMPED_TRY_CFLAGS(VARIABLE, FLAGS): adds the flags if the compiler takes them.
dnl -Werror, since clang only warns about a flag that it does not know.
AC_DEFUN([AMPED_TRY_CFLAGS],
[AC_MSG_CHECKING([whether $CC accepts $2])
amped_saved=$CFLAGS
CFLAGS="$CFLAGS $2 -Werror"
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int amped_probe;]])],
    [AC_MSG_RESULT([yes])
     $1="$$1 $2"],
    [AC_MSG_RESULT([no])])
CFLAGS=$amped_saved])

dnl AMPED_TRY_LDFLAGS(VARIABLE, FLAGS): adds the flags if the linker takes them.
AC_DEFUN([AMPED_TRY_LDFLAGS],
[AC_MSG_CHECKING([whether the linker accepts $2])
amped_saved=$LDFLAGS
LDFLAGS="$LDFLAGS $AMPED_CFLAGS $2"
AC_LINK_IFELSE([AC_LANG_PROGRAM()],
    [AC_MSG_RESULT([yes])
     $1="$$1 $2"],
    [AC_MSG_RESULT([no])])
LDFLAGS=$amped_saved])

dnl AMPED_SHADOW_STACK(CFLAGS-VARIABLE, LDFLAGS-VARIABLE): both or none.
AC_DEFUN([AMPED_SHADOW_STACK],
[amped_shadow=
AMPED_TRY_CFLAGS([amped_shadow], [-fcf-protection=return])
AS_IF([test -n "$amped_shadow"],
    [$1="$$1 $amped_shadow"
     AMPED_TRY_LDFLAGS([$2], [-Wl,-z,shstk])])])

dnl AMPED_SANITIZERS(CFLAGS-VARIABLE, LDFLAGS-VARIABLE, WHICH): asked for, so
dnl required.
AC_DEFUN([AMPED_SANITIZERS],
[amped_sanitize="-fsanitize=$3"
AC_MSG_CHECKING([whether $CC can link with $amped_sanitize])
amped_saved=$LDFLAGS
LDFLAGS="$LDFLAGS $amped_sanitize"
AC_LINK_IFELSE([AC_LANG_PROGRAM()],
    [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([no sanitizers ($3) for $CC here])])
LDFLAGS=$amped_saved
$1="$$1 $amped_sanitize -fno-sanitize-recover=all -fno-omit-frame-pointer"
$2="$$2 $amped_sanitize"])

dnl AMPED_FORTIFY(VARIABLE): checked string functions; they need optimisation,
dnl and some compilers turn them on by themselves.
AC_DEFUN([AMPED_FORTIFY],
[AC_MSG_CHECKING([whether to define _FORTIFY_SOURCE])
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
#if !defined(__OPTIMIZE__) || defined(_FORTIFY_SOURCE)
#error not here
#endif
]])],
    [amped_fortify=yes], [amped_fortify=no])
AC_MSG_RESULT([$amped_fortify])
AS_IF([test "$amped_fortify" = yes], [$1="$$1 -D_FORTIFY_SOURCE=2"])])

dnl AMPED_BSD: libbsd, where the system lacks what the BSDs have.
AC_DEFUN([AMPED_BSD],
[amped_need_bsd=no
AC_CHECK_FUNC([setproctitle], [], [amped_need_bsd=yes])
AC_CHECK_FUNC([strlcpy], [], [amped_need_bsd=yes])
AC_CHECK_DECL([TAILQ_FOREACH_SAFE], [], [amped_need_bsd=yes],
    [#include <sys/queue.h>])
AS_IF([test "$amped_need_bsd" = yes],
    [PKG_CHECK_MODULES([BSD], [libbsd-overlay])])])
