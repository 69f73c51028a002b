/*
 * json_lines: takes lines apart as lib/log.c makes them.
 */
#include <string.h>

#include "helpers/json_lines.h"
#include "lib/lines.h"

struct elements {
	struct str	time, process, pid, level;
};

/* Cuts the text up to c off the front; false: there is no c. */
static bool
cut_element(struct str *line, char c, struct str *element)
{
	if (memchr(line->at, c, line->len) == NULL)
		return false;
	*element = str_cut(line, c);
	return element->len > 0;
}

static bool
is_all_of(struct str s, const char *characters)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.at[i] == '\0' || strchr(characters, s.at[i]) == NULL)
			return false;
	return true;
}

/* "TIME PROCESS[PID] LEVEL: MESSAGE": leaves the message in *line. */
static bool
cut_elements(struct str *line, struct elements *p)
{
	static const char	digits[] = "0123456789";
	static const char	letters[] = "abcdefghijklmnopqrstuvwxyz";
	struct str		rest = *line;

	if (!cut_element(&rest, ' ', &p->time) ||
	    !cut_element(&rest, '[', &p->process) ||
	    !cut_element(&rest, ']', &p->pid) || !str_starts(rest, STR(" ")))
		return false;
	str_skip(&rest, 1);
	if (!cut_element(&rest, ':', &p->level) ||
	    !str_starts(rest, STR(" ")) || !is_all_of(p->pid, digits) ||
	    !is_all_of(p->level, letters) || !is_all_of(p->time,
	    "0123456789T:+-"))
		return false;
	str_skip(&rest, 1);
	*line = rest;
	return true;
}

static void
add_text(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		if (s.at[i] == '"' || s.at[i] == '\\')
			buf_addc(b, '\\');
		buf_addc(b, (unsigned char)s.at[i] < ' ' ? ' ' : s.at[i]);
	}
}

static void
add_member(struct buf *b, const char *name, struct str value)
{
	buf_addf(b, "\"%s\":\"", name);
	add_text(b, value);
	buf_addc(b, '"');
}

static void
add_line(struct buf *b, struct str line)
{
	struct elements	p;

	buf_addc(b, '{');
	if (cut_elements(&line, &p)) {
		add_member(b, "time", p.time);
		buf_addc(b, ',');
		add_member(b, "process", p.process);
		buf_addf(b, ",\"pid\":%.*s,", (int)p.pid.len, p.pid.at);
		add_member(b, "level", p.level);
		buf_addc(b, ',');
	}
	add_member(b, "message", line);
	buf_adds(b, "}\n");
}

void
json_lines_add(struct buf *b, struct str lines)
{
	struct str	line;

	while (lines.len > 0) {
		line.at = lines.at;
		line.len = lines_first(lines.at, lines.len);
		str_skip(&lines, line.len);
		line.len -= line.at[line.len - 1] == '\n';
		add_line(b, line);
	}
}
