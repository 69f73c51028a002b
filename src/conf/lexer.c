/*
 * lexer: splits the text of a conf file into words, braces and ends of
 * statements.
 *
 * The lexer knows no directive.  After an error it goes on as if the text were
 * right, so that the rest of the file is checked too.
 */
#include <string.h>

#include "conf/private.h"
#include "lib/mem.h"

static bool
is_control(unsigned char c)
{
	return (c < ' ' && c != '\t' && c != '\n') || c == 0x7f;
}

static char
peek_byte(const struct conf_lexer *s, size_t ahead)
{
	return s->at + ahead < s->len ? s->text[s->at + ahead] : '\0';
}

/* A CR counts as a blank before a newline, and is a control byte elsewhere. */
static bool
at_blank(const struct conf_lexer *s)
{
	return peek_byte(s, 0) == ' ' || peek_byte(s, 0) == '\t' ||
	    (peek_byte(s, 0) == '\r' && peek_byte(s, 1) == '\n');
}

static void
start_token(struct conf_lexer *s)
{
	s->pos.column = s->at - s->line_at;
	s->pos.len = 1;
}

static void
next_line(struct conf_lexer *s)
{
	s->at++;
	s->line_at = s->at;
	s->pos.line++;
}

/* A file with control bytes is no conf, and gets one error only. */
static bool
is_text(struct conf_lexer *s)
{
	unsigned char	c;

	while (s->at < s->len) {
		c = (unsigned char)s->text[s->at];
		if (c == '\n') {
			next_line(s);
		} else if (is_control(c) && !at_blank(s)) {
			start_token(s);
			conf_error(s->reader, s->pos,
			    "control byte 0x%02x: this is not a text file", c);
			return false;
		} else {
			s->at++;
		}
	}
	return true;
}

void
conf_lexer_start(struct conf_lexer *s, struct conf_reader *reader, size_t file)
{
	const struct conf_source	*source = &reader->sources[file];

	*s = (struct conf_lexer){
		.reader = reader, .text = source->text, .len = source->len,
		.pos = { .file = file, .line = 1 },
	};
	if (!is_text(s))
		s->len = 0;
	s->at = s->line_at = 0;
	s->pos.line = 1;
}

/* A "#" or quote within a word does not end it. */
static bool
at_word_end(const struct conf_lexer *s)
{
	return s->at == s->len || at_blank(s) ||
	    strchr("\n;{}", s->text[s->at]) != NULL;
}

/* Reads a backslash in quotes, and the character behind it. */
static void
read_escape(struct conf_lexer *s, struct buf *text)
{
	struct conf_pos	at = s->pos;
	char		c = peek_byte(s, 1);

	if (c == '"' || c == '\\') {
		buf_addc(text, c);
		s->at += 2;
		return;
	}
	at.column = s->at - s->line_at;
	at.len = 1;
	conf_error(s->reader, at,
	    "in quotes \\ stands only before \" or \\: write \\\\ for itself");
	buf_addc(text, '\\');
	s->at++;
}

static void
read_quoted(struct conf_lexer *s, struct buf *text)
{
	s->at++;
	while (s->at < s->len && peek_byte(s, 0) != '\n' &&
	    peek_byte(s, 0) != '"') {
		if (peek_byte(s, 0) == '\\')
			read_escape(s, text);
		else
			buf_addc(text, s->text[s->at++]);
	}
	if (peek_byte(s, 0) != '"') {
		conf_error(s->reader, s->pos,
		    "the quote is not closed on its line");
		return;
	}
	s->at++;
	if (!at_word_end(s))
		conf_error(s->reader, s->pos,
		    "a blank is missing behind the closing quote");
}

static void
read_bare(struct conf_lexer *s, struct buf *text)
{
	bool	quote = false;

	for (; !at_word_end(s); s->at++) {
		quote = quote || s->text[s->at] == '"';
		buf_addc(text, s->text[s->at]);
	}
	s->pos.len = s->at - s->line_at - s->pos.column;
	if (quote)
		conf_error(s->reader, s->pos,
		    "a quote within a word: quote all of it");
}

static void
read_word(struct conf_lexer *s, struct conf_word *w)
{
	struct buf	text = { 0 };

	w->quoted = peek_byte(s, 0) == '"';
	if (w->quoted)
		read_quoted(s, &text);
	else
		read_bare(s, &text);
	s->pos.len = s->at - s->line_at - s->pos.column;
	w->pos = s->pos;
	buf_string(&text);
	w->text = text.at;
}

enum conf_token
conf_lexer_next(struct conf_lexer *s, struct conf_word *w)
{
	while (at_blank(s))
		s->at++;
	if (peek_byte(s, 0) == '#')
		while (s->at < s->len && peek_byte(s, 0) != '\n')
			s->at++;
	start_token(s);
	if (s->at == s->len)
		return TOKEN_EOF;
	switch (peek_byte(s, 0)) {
	case '\n':
		next_line(s);
		return TOKEN_END;
	case ';':
		s->at++;
		return TOKEN_END;
	case '{':
		s->at++;
		return TOKEN_OPEN;
	case '}':
		s->at++;
		return TOKEN_CLOSE;
	default:
		read_word(s, w);
		return TOKEN_WORD;
	}
}
