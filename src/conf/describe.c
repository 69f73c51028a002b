/*
 * describe: bytes by which two confs can be compared.
 */
#include "conf/describe.h"
#include "conf/run.h"

/* Ends each text by a byte that is in none. */
static void
end_text(struct buf *to)
{
	buf_addc(to, '\0');
}

static void
describe_directory(void *to, const char *directory)
{
	buf_adds(to, directory);
	end_text(to);
}

/* A process that stays, or a server, takes any file that a request names, and a
 * filter with an application none. */
void
conf_describe_program(const struct conf *conf,
    const struct conf_program *program, struct buf *to)
{
	struct conf_program	 copy = *program;
	struct conf_object	 object = conf_object_program(&copy);
	const struct conf_row	*row;
	const void		*member;

	CONF_EACH_ROW(row) {
		if (row->block != BLOCK_PROGRAM)
			continue;
		member = conf_member(object, row);
		buf_adds(to, row->word);
		end_text(to);
		for (size_t i = 0; i < conf_value_count(row, member); i++) {
			conf_value_print(row, member, i, to);
			end_text(to);
		}
	}
	buf_adds(to, program->name != NULL ? program->name : "");
	end_text(to);
	if (program->application != NULL || (program->protocol != CONF_CGI &&
	    program->confine != CONFINEMENT_FILES))
		return;
	buf_adds(to, conf_find_users(conf) ? "users" : "");
	end_text(to);
	conf_program_each_directory(conf, program, describe_directory, to);
}
