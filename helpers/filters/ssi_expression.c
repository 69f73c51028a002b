/*
 * ssi_expression: variables, and expressions of "if".
 *
 *	or	and { || and }
 *	and	not { && not }
 *	not	! not | ( or ) | text [ operator text | operator /regex/ ]
 *
 * A text is any number of words, or stands in single quotes; it is true if it
 * is not empty.
 */
#include <ctype.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "helpers/filters/ssi.h"
#include "lib/mem.h"

#define GROUPS	10	/* of a regular expression: $0 to $9 */

const char *
ssi_expression_get(const struct ssi *s, const char *name)
{
	for (size_t i = 0; i < s->nvariables; i++)
		if (strcmp(s->variables[i].name, name) == 0)
			return s->variables[i].value;
	return NULL;
}

void
ssi_expression_set(struct ssi *s, const char *name, const char *value)
{
	struct ssi_variable	*v = s->variables;
	char			*copy = mem_string(value);

	for (size_t i = 0; i < s->nvariables; i++, v++)
		if (strcmp(v->name, name) == 0) {
			free(v->value);
			v->value = copy;
			return;
		}
	s->variables = mem_grow(s->variables, s->nvariables + 1, sizeof(*v));
	s->variables[s->nvariables++] = (struct ssi_variable){
		mem_string(name), copy
	};
}

static size_t
name_length(const char *at)
{
	size_t	n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n;
}

/* Adds the value of a variable; *at is its $, and becomes its last byte. */
static void
add_variable(const struct ssi *s, const char **at, struct buf *to)
{
	const char	*name = *at + 1;
	bool		 braced = *name == '{';
	size_t		 n = name_length(name + braced);
	struct buf	 copy = { 0 };
	const char	*value;

	if (n == 0 || (braced && name[1 + n] != '}')) {
		buf_addc(to, '$');
		return;
	}
	buf_add(&copy, name + braced, n);
	value = ssi_expression_get(s, buf_string(&copy));
	if (value != NULL)
		buf_adds(to, value);
	buf_free(&copy);
	*at = name + n + 2 * (size_t)braced - 1;
}

void
ssi_expression_expand(const struct ssi *s, struct str text, struct buf *to)
{
	struct buf	 copy = { 0 };
	const char	*at;

	buf_add(&copy, text.at, text.len);
	for (at = buf_string(&copy); *at != '\0'; at++) {
		if (at[0] == '\\' && at[1] != '\0' &&
		    strchr("$\"'`", at[1]) != NULL)
			buf_addc(to, *++at);
		else if (*at == '$')
			add_variable(s, &at, to);
		else
			buf_addc(to, *at);
	}
	buf_free(&copy);
}

/*
 * Expressions
 */

struct parser {
	struct ssi		*ssi;
	const char		*at;
	unsigned		 depth;
	bool			 failed;
};

static bool	parse_or(struct parser *);

static void
skip_space(struct parser *p)
{
	while (isspace((unsigned char)*p->at))
		p->at++;
}

static bool
take_token(struct parser *p, const char *token)
{
	skip_space(p);
	if (strncmp(p->at, token, strlen(token)) != 0)
		return false;
	p->at += strlen(token);
	return true;
}

static bool
ends_text(const char *at)
{
	return *at == '\0' || strchr("()!=<>", *at) != NULL ||
	    strncmp(at, "&&", 2) == 0 || strncmp(at, "||", 2) == 0;
}

/* Finds the end of a quoted text; a backslash keeps the next byte. */
static const char *
find_quote(const char *at, char quote)
{
	while (*at != '\0' && *at != quote)
		at += 1 + (at[0] == '\\' && at[1] != '\0');
	return at;
}

/* Takes a text, with variables; the caller frees. */
static void
take_text(struct parser *p, struct buf *to)
{
	const char	*start;
	size_t		 n;

	skip_space(p);
	start = p->at;
	if (*start == '\'') {
		p->at = find_quote(start + 1, '\'');
		n = (size_t)(p->at - start) - 1;
		p->failed = p->failed || *p->at == '\0';
		p->at += *p->at != '\0';
		ssi_expression_expand(p->ssi, (struct str){ start + 1, n }, to);
		return;
	}
	while (!ends_text(p->at))
		p->at++;
	n = (size_t)(p->at - start);
	while (n > 0 && isspace((unsigned char)start[n - 1]))
		n--;
	ssi_expression_expand(p->ssi, (struct str){ start, n }, to);
}

/* Sets the variables of the groups; a group without a match is empty. */
static void
set_groups(struct ssi *s, const char *text, const regmatch_t *groups)
{
	struct buf	copy = { 0 };
	char		name[2] = "0";

	for (int i = 0; i < GROUPS; i++, name[0]++) {
		copy.len = 0;
		if (groups[i].rm_so != -1)
			buf_add(&copy, text + groups[i].rm_so, (size_t)
			    (groups[i].rm_eo - groups[i].rm_so));
		ssi_expression_set(s, name, buf_string(&copy));
	}
	buf_free(&copy);
}

/* Takes /regex/ and matches it. */
static bool
match_regex(struct parser *p, const char *text)
{
	const char	*end = find_quote(p->at + 1, '/');
	struct buf	 copy = { 0 };
	regex_t		 regex;
	regmatch_t	 groups[GROUPS];
	bool		 found = false;

	buf_add(&copy, p->at + 1, (size_t)(end - p->at) - 1);
	if (*end == '\0' ||
	    regcomp(&regex, buf_string(&copy), REG_EXTENDED) != 0)
		p->failed = true;
	else {
		found = regexec(&regex, text, GROUPS, groups, 0) == 0;
		regfree(&regex);
		if (found)
			set_groups(p->ssi, text, groups);
	}
	p->at = end + (*end != '\0');
	buf_free(&copy);
	return found;
}

static const char *const operators[] = {
	"==", "!=", "<=", ">=", "=", "<", ">"
};

/* The next operator; NULL: there is none. */
static const char *
take_operator(struct parser *p)
{
	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (take_token(p, operators[i]))
			return operators[i];
	return NULL;
}

static bool
compare(const char *operator, int order)
{
	switch (operator[0]) {
	case '!':
		return order != 0;
	case '<':
		return operator[1] == '=' ? order <= 0 : order < 0;
	case '>':
		return operator[1] == '=' ? order >= 0 : order > 0;
	default:
		return order == 0;
	}
}

static bool
parse_comparison(struct parser *p)
{
	struct buf	 left = { 0 }, right = { 0 };
	const char	*start = p->at, *operator;
	bool		 result;

	take_text(p, &left);
	if (p->at == start)
		p->failed = true;
	operator = take_operator(p);
	skip_space(p);
	if (operator == NULL)
		result = left.len > 0;
	else if (*p->at == '/')
		result = match_regex(p, buf_string(&left)) ==
		    (operator[0] != '!');
	else {
		take_text(p, &right);
		result = compare(operator, strcmp(buf_string(&left),
		    buf_string(&right)));
	}
	buf_free(&left);
	buf_free(&right);
	return result;
}

static bool
parse_not(struct parser *p)
{
	bool	result;

	if (++p->depth > SSI_DEPTH) {
		p->failed = true;
		return false;
	}
	skip_space(p);
	if (p->at[0] == '!' && p->at[1] != '=') {
		p->at++;
		result = !parse_not(p);
	} else if (take_token(p, "(")) {
		result = parse_or(p);
		if (!take_token(p, ")"))
			p->failed = true;
	} else
		result = parse_comparison(p);
	p->depth--;
	return result;
}

static bool
parse_and(struct parser *p)
{
	bool	result = parse_not(p);

	while (!p->failed && take_token(p, "&&"))
		result = parse_not(p) && result;
	return result;
}

static bool
parse_or(struct parser *p)
{
	bool	result = parse_and(p);

	while (!p->failed && take_token(p, "||"))
		result = parse_and(p) || result;
	return result;
}

int
ssi_expression_evaluate(struct ssi *s, const char *expression)
{
	struct parser	p = { .ssi = s, .at = expression };
	bool		result = parse_or(&p);

	skip_space(&p);
	return p.failed || *p.at != '\0' ? -1 : result;
}
