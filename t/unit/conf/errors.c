/*
 * Unit test of conf/errors: the errors in bad confs, word for word, with their
 * carets.
 */
#include "t/unit/conf/confs.h"

/* The errors about a text, all of them. */
static void
read_bad(const char *text, const char *want)
{
	ck_assert_ptr_null(read_conf(text));
	ck_assert_str_eq(buf_string(&errors), want);
}

/* A text, and all its errors.  Line 1 is "user". */
static const struct {
	const char	*text, *want;
} bads[] = {
	{ "    indx index.html\n",
	    "t.conf:2:5: unknown word \"indx\"\n"
	    "    indx index.html\n"
	    "    ^~~~\n" },
	{ "site a.org {\n\tlisten *:80\n\troot /\n\tindx a\n}\n",
	    "t.conf:5:2: unknown word \"indx\" in block site\n"
	    "    indx a\n"
	    "    ^~~~ did you mean \"index\"?\n" },
	{ "inlcude x\nxyzzy { a { b } ; }\n",
	    "t.conf:2:1: unknown word \"inlcude\"\n"
	    "    inlcude x\n"
	    "    ^~~~~~~ did you mean \"include\"?\n"
	    "t.conf:3:1: unknown word \"xyzzy\"\n"
	    "    xyzzy { a { b } ; }\n"
	    "    ^~~~~\n" },
	/* Tabs stay tabs, and a character of two bytes is one column. */
	{ "cache {\tpaths\t5\trevalidate\t2x\n}\n",
	    "t.conf:2:28: \"2x\" is not a time: a number with ms, s, m, h or "
	    "d behind it\n"
	    "    cache {\tpaths\t5\trevalidate\t2x\n"
	    "           \t     \t \t          \t^~\n" },
	{ "types \"/n\xc3\xb6 x\"; f\xc3\xbc\xc3\xbc\n",
	    "t.conf:2:7: /n\xc3\xb6 x: No such file or directory\n"
	    "    types \"/n\xc3\xb6 x\"; f\xc3\xbc\xc3\xbc\n"
	    "          ^~~~~~~\n"
	    "t.conf:2:16: unknown word \"f\xc3\xbc\xc3\xbc\"\n"
	    "    types \"/n\xc3\xb6 x\"; f\xc3\xbc\xc3\xbc\n"
	    "                   ^~~\n" },
	{ "trust all 10.0.0.1/8 0.0.0.0/0\ntrust 10.0.0.1 fields x-forwarde\n",
	    "t.conf:2:7: \"all\" would trust every client: name the proxies\n"
	    "    trust all 10.0.0.1/8 0.0.0.0/0\n"
	    "          ^~~\n"
	    "t.conf:2:11: \"10.0.0.1/8\": the address has bits set behind "
	    "those that count: write zeros, as in 10.0.0.0/8\n"
	    "    trust all 10.0.0.1/8 0.0.0.0/0\n"
	    "              ^~~~~~~~~~\n"
	    "t.conf:2:22: \"0.0.0.0/0\" would trust every client: name the "
	    "proxies\n"
	    "    trust all 10.0.0.1/8 0.0.0.0/0\n"
	    "                         ^~~~~~~~~\n"
	    "t.conf:3:23: \"x-forwarde\" is not one of any, forwarded, "
	    "x-forwarded, x-forwarded-host, none\n"
	    "    trust 10.0.0.1 fields x-forwarde\n"
	    "                          ^~~~~~~~~~ did you mean \"x-forwarded\"?\n"
	},
	{ "site a { listen *:80 proxy proxy [::1]:81; root / }\n",
	    "t.conf:2:17: *:80 proxy: no proxy is trusted; name those that "
	    "connect there: trust 127.0.0.1, say\n"
	    "    site a { listen *:80 proxy proxy [::1]:81; root / }\n"
	    "                    ^~~~\n"
	    "t.conf:2:28: \"proxy\" is given twice\n"
	    "    site a { listen *:80 proxy proxy [::1]:81; root / }\n"
	    "                               ^~~~~\n" },
	{ "trust 10.0.0.1\nsite a { listen 127.0.0.1:80 proxy; root / }\n"
	    "site b { listen 127.0.0.1:80; listen proxy; root / }\n",
	    "t.conf:4:17: something else stands behind 127.0.0.1:80 at "
	    "t.conf:3: write the same for both sites\n"
	    "    site b { listen 127.0.0.1:80; listen proxy; root / }\n"
	    "                    ^~~~~~~~~~~~\n"
	    "t.conf:4:38: \"proxy\" stands behind what it is about\n"
	    "    site b { listen 127.0.0.1:80; listen proxy; root / }\n"
	    "                                         ^~~~~\n" },
	{ "site a { listen *:80 mode 0600 unix: unix:/s mode 8 owner no-one "
	    "group \"a b\"\nroot / }\n",
	    "t.conf:2:27: \"mode\" is only for a socket in the file system, "
	    "as unix:/run/amped/http\n"
	    "    site a { listen *:80 mode 0600 unix: unix:/s mode 8 owner "
	    "no-one group \"a b\"\n"
	    "                              ^~~~\n"
	    "t.conf:2:32: \"unix:\" cannot be a socket: its name has 1 to 107 "
	    "bytes\n"
	    "    site a { listen *:80 mode 0600 unix: unix:/s mode 8 owner "
	    "no-one group \"a b\"\n"
	    "                                   ^~~~~\n"
	    "t.conf:2:51: \"8\" is not a mode: three digits from 0 to 7, as "
	    "in 0660\n"
	    "    site a { listen *:80 mode 0600 unix: unix:/s mode 8 owner "
	    "no-one group \"a b\"\n"
	    "                                                      ^\n"
	    "t.conf:2:59: there is no user \"no-one\"\n"
	    "    site a { listen *:80 mode 0600 unix: unix:/s mode 8 owner "
	    "no-one group \"a b\"\n"
	    "                                                              "
	    "^~~~~~\n"
	    "t.conf:2:72: there is no group \"a b\"\n"
	    "    site a { listen *:80 mode 0600 unix: unix:/s mode 8 owner "
	    "no-one group \"a b\"\n"
	    "                                                              "
	    "             ^~~~~\n" },
	{ "site a { listen unix:/s mode 0600; root / }\n"
	    "site b { listen unix:/s; root / }\n",
	    "t.conf:3:17: something else stands behind unix:/s at t.conf:2: "
	    "write the same for both sites\n"
	    "    site b { listen unix:/s; root / }\n"
	    "                    ^~~~~~~\n" },
	{ "control s mode 0999\ncontrol x\n",
	    "t.conf:2:16: \"0999\" is not a mode: three digits from 0 to 7, "
	    "as in 0660\n"
	    "    control s mode 0999\n"
	    "                   ^~~~\n"
	    "t.conf:3:9: control is given twice: first at t.conf:2\n"
	    "    control x\n"
	    "            ^\n" },
	{ "control \"\" owner \"no one\" group \"no one\" mode 7777\n",
	    "t.conf:2:9: \"\" cannot be a socket: its name has 1 to 103 "
	    "bytes\n"
	    "    control \"\" owner \"no one\" group \"no one\" mode 7777\n"
	    "            ^~\n"
	    "t.conf:2:18: there is no user \"no one\"\n"
	    "    control \"\" owner \"no one\" group \"no one\" mode 7777\n"
	    "                     ^~~~~~~~\n"
	    "t.conf:2:33: there is no group \"no one\"\n"
	    "    control \"\" owner \"no one\" group \"no one\" mode 7777\n"
	    "                                    ^~~~~~~~\n"
	    "t.conf:2:47: \"7777\" is not a mode: three digits from 0 to 7, "
	    "as in 0660\n"
	    "    control \"\" owner \"no one\" group \"no one\" mode 7777\n"
	    "                                                  ^~~~\n" },
	/* Where words belong. */
	{ "listen *:80\nindex x\npath /a { }\nrevalidate 2s\n"
	    "log { user x; log { } }\n",
	    "t.conf:2:1: \"listen\" cannot stand here: it belongs in block "
	    "site\n    listen *:80\n    ^~~~~~\n"
	    "t.conf:3:1: \"index\" cannot stand here: it belongs in block "
	    "site or path\n    index x\n    ^~~~~\n"
	    "t.conf:4:1: \"path\" cannot stand here: it belongs in block "
	    "site\n    path /a { }\n    ^~~~\n"
	    "t.conf:5:1: \"revalidate\" cannot stand here: it belongs behind "
	    "\"paths\"\n    revalidate 2s\n    ^~~~~~~~~~\n"
	    "t.conf:6:7: \"user\" cannot stand here: it belongs outside of "
	    "all blocks\n    log { user x; log { } }\n          ^~~~\n"
	    "t.conf:6:15: \"log\" cannot stand here: it belongs outside of "
	    "all blocks\n    log { user x; log { } }\n"
	    "                  ^~~\n" },
	/* How many values. */
	{ "helpers\nhelpers 1 2\nhelpers max\n",
	    "t.conf:2:1: \"helpers\" needs a value\n"
	    "    helpers\n    ^~~~~~~\n"
	    "t.conf:3:11: unexpected \"2\" behind \"helpers\"\n"
	    "    helpers 1 2\n              ^\n"
	    "t.conf:4:9: \"max\" needs a value\n"
	    "    helpers max\n            ^~~\n" },
	{ "cache { paths 1 revalidat 2s }\n",
	    "t.conf:2:17: unexpected \"revalidat\" behind \"paths\"\n"
	    "    cache { paths 1 revalidat 2s }\n"
	    "                    ^~~~~~~~~ did you mean \"revalidate\"?\n" },
	{ "types \"\"\n",
	    "t.conf:2:7: types cannot be empty\n"
	    "    types \"\"\n          ^~\n" },
	/* Twice. */
	{ "helpers 3 max 4\nhelpers idle 1s max 5\n",
	    "t.conf:3:21: helpers max is given twice: first at t.conf:2\n"
	    "    helpers idle 1s max 5\n                        ^\n" },
	{ "cache { heads 1M }\ncache { heads 2M }\n",
	    "t.conf:3:15: heads is given twice: first at t.conf:2\n"
	    "    cache { heads 2M }\n                  ^~\n" },
	/* Numbers and choices. */
	{ "helpers max 257\nhelpers 1x\n",
	    "t.conf:2:13: 257 is out of bounds: helpers max takes 1 to 256\n"
	    "    helpers max 257\n                ^~~\n"
	    "t.conf:3:9: \"1x\" is not a number\n"
	    "    helpers 1x\n            ^~\n" },
	{ "helpers idle 30\n"
	    "cache { heads 1k; chunks 99999999999G; paths -1 }\n",
	    "t.conf:2:14: \"30\" is not a time: a number with ms, s, m, h or "
	    "d behind it\n    helpers idle 30\n                 ^~\n"
	    "t.conf:3:15: \"1k\" is not a size: a number, K, M or G behind "
	    "it\n    cache { heads 1k; chunks 99999999999G; paths -1 }\n"
	    "                  ^~\n"
	    "t.conf:3:26: \"99999999999G\" is not a size: a number, K, M or "
	    "G behind it\n"
	    "    cache { heads 1k; chunks 99999999999G; paths -1 }\n"
	    "                             ^~~~~~~~~~~~\n"
	    "t.conf:3:46: \"-1\" is not a number\n"
	    "    cache { heads 1k; chunks 99999999999G; paths -1 }\n"
	    "                                                 ^~\n" },
	{ "cache { hints lern }\n",
	    "t.conf:2:15: \"lern\" is not one of off, learn, links\n"
	    "    cache { hints lern }\n"
	    "                  ^~~~ did you mean \"learn\"?\n" },
	{ "order by-siz\n",
	    "t.conf:2:7: \"by-siz\" is not one of by-arrival, by-size\n"
	    "    order by-siz\n"
	    "          ^~~~~~ did you mean \"by-size\"?\n" },
	{ "architecture ampd\nlog { error stderr loud; access stderr comon }\n",
	    "t.conf:2:14: \"ampd\" is not one of amped, sped, mp, mt, pipelined\n"
	    "    architecture ampd\n"
	    "                 ^~~~ did you mean \"amped\"?\n"
	    "t.conf:3:20: \"loud\" is not one of error, warn, notice, info, "
	    "debug\n    log { error stderr loud; access stderr comon }\n"
	    "                       ^~~~\n"
	    "t.conf:3:40: there is no format \"comon\", but common, "
	    "combined, vcombined, json, and what \"format\" makes\n"
	    "    log { error stderr loud; access stderr comon }\n"
	    "                                           ^~~~~ did you mean "
	    "\"common\"?\n" },
	/* Between values. */
	{ "helpers share 5 max 4\n",
	    "t.conf:2:15: helpers share is 5, more than helpers max, which is "
	    "4 at t.conf:2\n    helpers share 5 max 4\n                  ^\n" },
	{ "helpers max 1\n",
	    "t.conf:2:13: helpers is 2 by default, more than helpers max, "
	    "which is 1\n    helpers max 1\n                ^\n" },
	{ "cache {\npaths revalidate 2m\nchunks size 16K\nchunks small 17K\n}",
	    "t.conf:3:18: paths revalidate is 2m, more than paths stale, "
	    "which is 1m by default\n"
	    "    paths revalidate 2m\n                     ^~\n"
	    "t.conf:5:14: chunks small is 17K, more than chunks size, which "
	    "is 16K at t.conf:4\n"
	    "    chunks small 17K\n                 ^~~\n" },
	{ "cache { chunks 64K size 128K }\n",
	    "t.conf:2:25: chunks size is 128K, more than chunks, which is "
	    "64K at t.conf:2\n    cache { chunks 64K size 128K }\n"
	    "                            ^~~~\n" },
	/* Files. */
	{ "log { error syslog notice format json }\n",
	    "t.conf:2:34: \"format json\" is for files and programs, not for "
	    "syslog\n    log { error syslog notice format json }\n"
	    "                                     ^~~~\n" },
	{ "log { error off; access /nowhere/a.log }\n",
	    "t.conf:2:13: error cannot be off: write a file or stderr\n"
	    "    log { error off; access /nowhere/a.log }\n"
	    "                ^~~\n"
	    "t.conf:2:25: /nowhere/a.log: No such file or directory\n"
	    "    log { error off; access /nowhere/a.log }\n"
	    "                            ^~~~~~~~~~~~~~\n" },
	{ "log { error stdout; access stdout }\n",
	    "t.conf:2:13: error cannot be stdout, which is for access logs: "
	    "write a file or stderr\n"
	    "    log { error stdout; access stdout }\n"
	    "                ^~~~~~\n" },
	{ "site a.org { listen *:80; root /dev/null }\n",
	    "t.conf:2:32: /dev/null: Not a directory\n"
	    "    site a.org { listen *:80; root /dev/null }\n"
	    "                                   ^~~~~~~~~\n" },
	{ "site a.org { listen *:80; root /%host/x\npath /b { root /c%host } }\n",
	    "t.conf:2:32: \"/%host/x\": %host can only be the last name: root "
	    "/srv/%host\n"
	    "    site a.org { listen *:80; root /%host/x\n"
	    "                                   ^~~~~~~~\n"
	    "t.conf:3:16: \"/c%host\": %host can only be the last name: root "
	    "/srv/%host\n"
	    "    path /b { root /c%host } }\n                   ^~~~~~~\n" },
	{ "site a.org { listen *:80; root /dev/null/%host }\n",
	    "t.conf:2:32: /dev/null: Not a directory\n"
	    "    site a.org { listen *:80; root /dev/null/%host }\n"
	    "                                   ^~~~~~~~~~~~~~~\n" },
	{ "site a.org { listen *:80; root /; head 1s; gap 1s\n"
	    "path /b { linger 1s; body 1M within 2s } }\n",
	    "t.conf:2:35: \"head\" cannot stand here: it belongs in block "
	    "limits\n"
	    "    site a.org { listen *:80; root /; head 1s; gap 1s\n"
	    "                                      ^~~~\n"
	    "t.conf:2:44: \"gap\" cannot stand here: it belongs in block "
	    "limits\n"
	    "    site a.org { listen *:80; root /; head 1s; gap 1s\n"
	    "                                               ^~~\n"
	    "t.conf:3:11: \"linger\" cannot stand here: it belongs in block "
	    "limits\n"
	    "    path /b { linger 1s; body 1M within 2s } }\n"
	    "              ^~~~~~\n" },
	/* Sites. */
	{ "", "t.conf: there is no site: nothing would be served\n" },
	{ "site a.org { }\n",
	    "t.conf:2:6: block site needs \"listen\"\n"
	    "    site a.org { }\n         ^~~~~\n"
	    "t.conf:2:6: block site needs \"root\"\n"
	    "    site a.org { }\n         ^~~~~\n" },
	{ "site { listen *:80; root / }\n"
	    "site b.org:80 { listen *:80; root / }\n",
	    "t.conf:2:1: \"site\" needs a name, or \"default\"\n"
	    "    site { listen *:80; root / }\n    ^~~~\n"
	    "t.conf:3:6: \"b.org:80\" is not a site's name: write a host name, "
	    "without port, or \"default\"\n"
	    "    site b.org:80 { listen *:80; root / }\n"
	    "         ^~~~~~~~\n" },
	{ SITE "site b.org A.ORG { listen 0.0.0.0:80; root / }\n",
	    "t.conf:6:12: there is a site \"a.org\" on *:80 already, at "
	    "t.conf:2\n    site b.org A.ORG { listen 0.0.0.0:80; root / }\n"
	    "               ^~~~~\n" },
	{ SITE "site b.org { listen 127.0.0.1:80; root / }\n",
	    "t.conf:6:21: \"127.0.0.1:80\" is part of \"*:80\" at t.conf:3: "
	    "write the same for both sites\n"
	    "    site b.org { listen 127.0.0.1:80; root / }\n"
	    "                        ^~~~~~~~~~~~\n" },
	{ "site a.org { listen *:80 0.0.0.0:80; root / }\n",
	    "t.conf:2:26: the site listens on \"0.0.0.0:80\" already\n"
	    "    site a.org { listen *:80 0.0.0.0:80; root / }\n"
	    "                             ^~~~~~~~~~\n" },
	{ "site a.org { listen *:80; root /\nindex a/b ..\n}\n",
	    "t.conf:3:7: index takes names of files, without their "
	    "directory\n    index a/b ..\n          ^~~\n"
	    "t.conf:3:11: index takes names of files, without their "
	    "directory\n    index a/b ..\n              ^~\n" },
	{ "site *x.org a.*.org * { listen *:80; root / }\n",
	    "t.conf:2:6: \"*x.org\" is not a site's name: * stands only in "
	    "front, for all names that end like it: *.example.org\n"
	    "    site *x.org a.*.org * { listen *:80; root / }\n"
	    "         ^~~~~~\n"
	    "t.conf:2:13: \"a.*.org\" is not a site's name: * stands only in "
	    "front, for all names that end like it: *.example.org\n"
	    "    site *x.org a.*.org * { listen *:80; root / }\n"
	    "                ^~~~~~~\n"
	    "t.conf:2:21: \"*\" is not a site's name: * stands only in "
	    "front, for all names that end like it: *.example.org\n"
	    "    site *x.org a.*.org * { listen *:80; root / }\n"
	    "                        ^\n" },
	{ "site *.a.org { listen *:80; root / }\n"
	    "site *.A.org { listen *:80; root / }\n",
	    "t.conf:3:6: there is a site \"*.a.org\" on *:80 already, at "
	    "t.conf:2\n    site *.A.org { listen *:80; root / }\n"
	    "         ^~~~~~~\n" },
	{ "site a.org { listen *:80; redirect 301 http://b.org/ }\n"
	    "site b.org { listen *:80; return 503 }\n"
	    "site c.org { listen *:80; fallback /a }\n",
	    "t.conf:4:6: block site needs \"root\"\n"
	    "    site c.org { listen *:80; fallback /a }\n         ^~~~~\n" },
	{ "site a.org { listen *:80; root /\npath /a { redirect 301 /b/c }\n"
	    "path /b { redirect 302 /a } }\n",
	    "t.conf:3:20: this redirect leads clients into a loop\n"
	    "    path /a { redirect 301 /b/c }\n                       ^~~\n"
	    "t.conf:4:20: this redirect leads clients into a loop\n"
	    "    path /b { redirect 302 /a } }\n                       ^~~\n" },
	{ "site a.org { listen *:80; root /\nlisting htm; hide a/b\n"
	    "path /a { listing off json\n}\npath /b { listing html off\n}\n"
	    "}\n",
	    "t.conf:3:9: \"htm\" is not one of off, html, json\n"
	    "    listing htm; hide a/b\n            ^~~ did you mean "
	    "\"html\"?\n"
	    "t.conf:3:19: hide takes names of files, without their "
	    "directory\n    listing htm; hide a/b\n"
	    "                      ^~~\n"
	    "t.conf:4:23: listing: \"off\" excludes other values\n"
	    "    path /a { listing off json\n"
	    "                          ^~~~\n"
	    "t.conf:6:24: listing: \"off\" excludes other values\n"
	    "    path /b { listing html off\n"
	    "                           ^~~\n" },
	/* Braces. */
	{ "cache\n{\nheads 1M; heds 1M\n}\n",
	    "t.conf:2:1: block \"cache\" needs a \"{\" at the end of this "
	    "line\n    cache\n    ^~~~~\n"
	    "t.conf:4:11: unknown word \"heds\" in block cache\n"
	    "    heads 1M; heds 1M\n"
	    "              ^~~~ did you mean \"heads\"?\n" },
	{ "log {\naccess off\n",
	    "t.conf:2:1: block \"log\" is not closed: a \"}\" is missing\n"
	    "    log {\n    ^~~\n" },
	{ "}\n{ a }\nhelpers 2 { x }\nlog x { }\n",
	    "t.conf:2:1: \"}\" closes nothing\n    }\n    ^\n"
	    "t.conf:3:1: \"{\" without a word before it\n    { a }\n    ^\n"
	    "t.conf:4:11: \"helpers\" is not a block\n"
	    "    helpers 2 { x }\n              ^\n"
	    "t.conf:5:5: unexpected \"x\" behind \"log\"\n"
	    "    log x { }\n        ^\n" },
	/* Quotes and bytes. */
	{ "types \"/no\ntypes a\"b\ntypes \"/dev/null\"b\n",
	    "t.conf:2:7: the quote is not closed on its line\n"
	    "    types \"/no\n          ^\n"
	    "t.conf:2:7: /no: No such file or directory\n"
	    "    types \"/no\n          ^~~~\n"
	    "t.conf:3:7: a quote within a word: quote all of it\n"
	    "    types a\"b\n          ^~~\n"
	    "t.conf:3:7: types is given twice: first at t.conf:2\n"
	    "    types a\"b\n          ^~~\n"
	    "t.conf:4:7: a blank is missing behind the closing quote\n"
	    "    types \"/dev/null\"b\n          ^\n"
	    "t.conf:4:7: types is given twice: first at t.conf:2\n"
	    "    types \"/dev/null\"b\n          ^~~~~~~~~~~\n"
	    "t.conf:4:18: unexpected \"b\" behind \"types\"\n"
	    "    types \"/dev/null\"b\n                     ^\n" },
	{ "types \"/dev\\null\"\n",
	    "t.conf:2:7: /dev\\null: No such file or directory\n"
	    "    types \"/dev\\null\"\n          ^~~~~~~~~~~\n"
	    "t.conf:2:12: in quotes \\ stands only before \" or \\: write "
	    "\\\\ for itself\n"
	    "    types \"/dev\\null\"\n               ^\n" },
	{ "xyzzy\nhelpers \001 2\nxyzzy\n",
	    "t.conf:3:9: control byte 0x01: this is not a text file\n"
	    "    helpers ? 2\n            ^\n" },
};

START_TEST(bad_confs)
{
	read_bad(bads[_i].text, bads[_i].want);
}
END_TEST

#define USERS	"a directory of users is beneath their homes: without a " \
		"slash in front or at its end, and no name in it begins "  \
		"with a dot"

#define AGE(text) "\"" text "\" is not a time up to 3650d: a number with ms, " \
		"s, m, h or d behind it"
#define WILD	"a path has no wildcards, and covers all beneath it: for "  \
		"files by their names, write a block as files *.txt { ... }"

/* A line of a site, and the message of its only error. */
static const struct {
	const char	*line, *want;
} site_lines[] = {
	{ "listen 8080", "\"8080\" has no address: write 127.0.0.1:8080 for "
	    "this host alone, or *:8080 for all" },
	{ "listen :80", "\":80\" has no address: write 127.0.0.1:80 for this "
	    "host alone, or *:80 for all" },
	{ "listen a", "no address: write 127.0.0.1:80, or *:80 for all" },
	{ "listen ::1:80", "an IPv6 address stands in brackets: [::1]:80" },
	{ "listen [::1]", "a port is a number up to 65535" },
	{ "}; cache { off mmap }; site b.org { listen *:81; root /",
	    "\"mmap\" is not one of pathname, header, chunk, alignment, "
	    "edges" },
	{ "listen [::1]x:80", "the port follows the bracket: [::1]:80" },
	{ "listen 1.2.3.4:", "a port is a number up to 65535" },
	{ "listen 1.2.3.4:http", "a port is a number up to 65535" },
	{ "listen 1.2.3.4:65536", "a port is a number up to 65535" },
	{ "listen 1.2.3:80",
	    "\"1.2.3\" is not an address: write numbers, or * for all" },
	{ "listen localhost:80",
	    "\"localhost\" is not an address: write numbers, or * for all" },
	{ "listen [1.2.3.4]:80",
	    "\"1.2.3.4\" is not an address: write numbers, or * for all" },
	{ "try html", "\"html\" is not a suffix: it begins with a dot, as "
	    ".html" },
	{ "try .", "\".\" is not a suffix: it begins with a dot, as .html" },
	{ "try .a/b", "\".a/b\" is not a suffix: it begins with a dot, as "
	    ".html" },
	{ "try .html off", "try: \"off\" excludes other values" },
	{ "header \"a b\" c", "\"a b\" is not a field's name" },
	{ "header \"\" c", "\"\" is not a field's name" },
	{ "header content-LENGTH 0",
	    "content-LENGTH is set by the server itself" },
	{ "header \"set\" c", "\"set\" is not a field's name" },
	{ "header add Date x", "Date is set by the server itself" },
	{ "header set A", "\"A\" needs a value" },
	{ "header remove", "\"remove\" needs a value" },
	{ "header X-Content-type-options nosniff",
	    "X-Content-type-options is set by the server itself" },
	{ "expires text 1d", "\"text\" is not a media type: write "
	    "text/html, image/* or */*" },
	{ "expires */html 1d", "\"*/html\" is not a media type: write "
	    "text/html, image/* or */*" },
	{ "compressible text", "\"text\" is not a media type: write "
	    "text/html, image/* or */*" },
	{ "compress gz", "\"gz\" is not one of off, on, br, zstd, gzip" },
	{ "compress on gzip", "compress: \"on\" excludes other values" },
	{ "compress gzip br off", "compress: \"off\" excludes other values" },
	{ "formats gif", "\"gif\" is not one of off, avif, jxl, webp" },
	{ "formats avif off", "formats: \"off\" excludes other values" },
	{ "languages d_e", "\"d_e\" is not a language: write en or pt-BR" },
	{ "languages e", "\"e\" is not a language: write en or pt-BR" },
	{ "languages en-", "\"en-\" is not a language: write en or pt-BR" },
	{ "languages \"\"", "\"\" is not a language: write en or pt-BR" },
	{ "languages ab/../cd",
	    "\"ab/../cd\" is not a language: write en or pt-BR" },
	{ "languages ninechars",
	    "\"ninechars\" is not a language: write en or pt-BR" },
	{ "languages aa-b2345678-b2345678-b2345678-b23456",
	    "\"aa-b2345678-b2345678-b2345678-b23456\" is not a language: "
	    "write en or pt-BR" },
	{ "languages en default x",
	    "\"x\" is not a language: write en or pt-BR" },
	{ "languages default en",
	    "\"languages\" needs a language in front of default" },
	{ "languages de en DE", "languages: \"DE\" is there twice" },
	{ "languages de off", "languages: \"off\" excludes other values" },
	{ "languages off de", "languages: \"off\" excludes other values" },
	{ "languages aa bb cc dd ee ff", "languages: more than 5 languages" },
	{ "languages de default", "\"default\" needs a value" },
	{ "precompressed bz", "\"bz\" is not one of off, br, zstd, gzip" },
	{ "precompressed br off", "precompressed: \"off\" excludes other values" },
	{ "precompressed off br", "precompressed: \"off\" excludes other values" },
	{ "expires text/* 5", AGE("5") },
	{ "expires text/* 3651d", AGE("3651d") },
	{ "expires text/* 1y", AGE("1y") },
	{ "expires text/*", "\"text/*\" needs a value" },
	{ "expires a/b 1d; expires a/b 2d",
	    "expires a/b is given twice in this block" },
	{ "header cache-control no-cache; expires a/b 1d", "header "
	    "Cache-Control overrides expires here: leave one of them out" },
	{ "header Cache-Control no-cache; path /a { expires a/b 1d }",
	    "header Cache-Control overrides expires here: leave one of them "
	    "out" },
	{ "charset \"a b\"", "\"a b\" is not a character set's name" },
	{ "charset type text", "\"text\" needs a value" },
	{ "charset type text latin1", "\"text\" is not a media type: write "
	    "text/html, image/* or */*" },
	{ "charset type text/* \"a b\"",
	    "\"a b\" is not a character set's name" },
	{ "charset type text/css a type text/css b",
	    "charset text/css is given twice in this block" },
	{ "etag inode", "\"inode\" is not one of version, modified, content" },
	{ "nosniff maybe", "\"maybe\" is not one of off, on" },
	{ "links some", "\"some\" is not one of beneath, none, owner, all" },
	{ "users /www", USERS },
	{ "users www/", USERS },
	{ "users a//b", USERS },
	{ "users a/../b", USERS },
	{ "users .www", USERS },
	{ "users \"\"", USERS },
	{ "users www deny a/b", "users deny: this cannot be a user's name" },
	{ "users www deny \"\"", "users deny: this cannot be a user's name" },
	{ "users www deny", "\"deny\" needs a value" },
	{ "users www from -1", "\"-1\" is not a number" },
	{ "path /a { users www }", "\"users\" cannot stand here: it belongs "
	    "in block site" },
	{ "header remove ETag", "ETag is set by the server itself" },
	{ "header remove A", "nothing outside adds a field A" },
	{ "header A b; path /a { header remove B }",
	    "nothing outside adds a field B" },
	{ "path /a { header A b; header remove A }",
	    "nothing outside adds a field A" },
	{ "header A", "\"A\" needs a value" },
	{ "header A b always c", "unexpected \"c\" behind \"header\": a value "
	    "of several words needs double quotes (\")" },
	{ "files a { header A b always }", "\"always\" belongs in block site "
	    "or path: no file has a part in an error" },
	{ "files a { header Date b }", "Date is set by the server itself" },
	{ "files a { type text }", "\"text\" is not a media type: write "
	    "text/html" },
	{ "files a { type text/* }", "\"text/*\" is not a media type: write "
	    "text/html" },
	{ "files a { header set cache-control x; expires 1s }", "header "
	    "Cache-Control overrides expires here: leave one of them out" },
	{ "files a { expires 3651d }", "3651d is out of bounds: expires takes "
	    "0s to 3650d" },
	{ "}; type yaml text/yaml; site b.org { listen *:81; root /",
	    "\"yaml\" is not the last suffix of a name: write a dot and what "
	    "follows, .html" },
	{ "}; type .tar.gz a/b; site b.org { listen *:81; root /",
	    "\".tar.gz\" is not the last suffix of a name: write a dot and "
	    "what follows, .html" },
	{ "}; type .a a/b .a a/c; site b.org { listen *:81; root /",
	    "unexpected \".a\" behind \"type\": a value of several words needs "
	    "double quotes (\")" },
	{ "}; type .a a/b; type .a a/c; site b.org { listen *:81; root /",
	    "type .a is given twice in this block" },
	{ "header A b, c",
	    "unexpected \"c\" behind \"header\": a value of several words "
	    "needs double quotes (\")" },
	{ "path a { }", "a path begins with /" },
	{ "path \"\" { }", "a path begins with /" },
	{ "path / { }", "/ is the site itself: write what is within this "
	    "block in the site" },
	{ "path /a// { }", "a path has no empty, . or .. segments" },
	{ "path /a//b { }", "a path has no empty, . or .. segments" },
	{ "path /./b { }", "a path has no empty, . or .. segments" },
	{ "path /b/.. { }", "a path has no empty, . or .. segments" },
	{ "path /a%20b { }",
	    "a path is written decoded: the characters themselves" },
	{ "path /*.txt { deny all }", WILD },
	{ "path /a/* { }", WILD },
	{ "path \"/a?b\" { }", WILD },
	{ "path { }", "\"path\" needs one path" },
	{ "path /a /b { }", "\"path\" needs one path" },
	{ "include", "\"include\" needs one file or pattern" },
	{ "path /a { }; path /b { }; path /a { }",
	    "path \"/a\" is given twice: first at t.conf:5" },
	{ "path /a { listen *:80 }",
	    "\"listen\" cannot stand here: it belongs in block site" },
	{ "path /a { alias /dev; root / }",
	    "root and alias exclude each other: alias is given at t.conf:5" },
	{ "path /a { root /; alias /dev }",
	    "alias and root exclude each other: root is given at t.conf:5" },
	{ "alias /",
	    "\"alias\" cannot stand here: it belongs in block path" },
	{ "path /a { redirect 301 /b; return 404 }",
	    "return and redirect exclude each other: redirect is given "
	    "at t.conf:5" },
	{ "path /a { return 404; alias / }",
	    "alias and return exclude each other: return is given at "
	    "t.conf:5" },
	{ "path /a { status on; alias / }",
	    "alias and status exclude each other: status is given at "
	    "t.conf:5" },
	{ "rate burst 5", "\"rate\" needs a number of its own here, before "
	    "\"burst\"" },
	{ "path /a { pace after 5K }", "\"pace\" needs a number of its own here, "
	    "before \"after\"" },
	{ "rate 5 burst 0", "0 is out of bounds: rate burst takes 1 to 1000000" },
	{ "access stderr comon",
	    "there is no format \"comon\", but common, combined, vcombined, "
	    "json, and what \"format\" makes" },
	{ "access off json", "unexpected \"json\" behind \"off\"" },
	{ "path /a { access syslog }",
	    "\"syslog\": only \"access\" in block log names syslog; a site or "
	    "path can name the same, a file, or a program" },
	{ "access /nowhere/a.log", "/nowhere/a.log: No such file or directory" },
	{ "path /a { status yes }", "\"yes\" is not one of off, on" },
	{ "status on",
	    "\"status\" cannot stand here: it belongs in block path" },
	{ "path /a { return 418 }", "\"418\" is not one of 403, 404, 410, 451, 500, 503" },
	{ "expires 30d", "\"30d\" stands behind a media type: write expires */* "
	    "30d for all files" },
	{ "path /a { return 301 /x }", "\"301\" behind \"return\": write redirect 301 "
	    "TARGET" },
	{ "listen *:443 ssl", "\"ssl\" behind \"listen\": amped has no TLS: "
	    "a proxy in front of it does that" },
	{ "path ~ \\.php$ { }", "\"~\" behind \"path\": a path is a prefix, "
	    "without patterns: for files by their names, write a block as "
	    "files *.php { ... }" },
	{ "precompressed brotli", "\"brotli\" behind \"precompressed\": write "
	    "precompressed br" },
	{ "gzip on", "\"gzip\" is a word of nginx: write compress on" },
	{ "documentroot /", "\"documentroot\" is a word of Apache: write root "
	    "DIRECTORY, in a site" },
	{ "<Files ~ x>", "\"<Files\" is a word of Apache: write files "
	    "PATTERN ... { ... }" },
	{ "</Files>", "\"</Files>\" is a word of Apache: a block ends with }" },
	{ "file_server browse", "\"file_server\" is a word of Caddy: write "
	    "root DIRECTORY, and listing html for browse" },
	{ "}; site b\xc3\xbc.example { listen *:81; root /",
	    "\"b\xc3\xbc.example\": a name beyond ASCII is written as clients "
	    "send it, in punycode: xn--..., which idn2 prints" },
	{ "path /a { redirect 304 /b }",
	    "\"304\" is not one of 301, 302, 303, 307, 308" },
	{ "path /a { redirect /b }",
	    "a status comes first: write redirect 301 /b" },
	{ "path /a { redirect 301 }",
	    "\"redirect\" needs a target behind its status" },
	{ "path /a { redirect 301 b }",
	    "a target is a path from / on, or begins with http:// or "
	    "https:// and a host" },
	{ "path /a { redirect 301 ftp://b/ }",
	    "a target is a path from / on, or begins with http:// or "
	    "https:// and a host" },
	{ "path /a { redirect 301 http:///b }",
	    "a target is a path from / on, or begins with http:// or "
	    "https:// and a host" },
	{ "path /a { redirect 301 https://?x }",
	    "a target is a path from / on, or begins with http:// or "
	    "https:// and a host" },
	{ "path /a { redirect 301 javascript:x }",
	    "a target is a path from / on, or begins with http:// or "
	    "https:// and a host" },
	{ "path /a { redirect 301 \"\" }",
	    "a target is a path from / on, or begins with http:// or "
	    "https:// and a host" },
	{ "path /a { redirect 301 //b.org/ }",
	    "a path has one / in front: write http:// or https:// for "
	    "another host" },
	{ "path /a { redirect 301 /b#c }",
	    "a target is written as in an address: other characters as "
	    "%XX, and without #" },
	{ "path /a { redirect 301 \"/b c\" }",
	    "a target is written as in an address: other characters as "
	    "%XX, and without #" },
	{ "path /a { redirect 301 \"/b\tc\" }",
	    "a target is written as in an address: other characters as "
	    "%XX, and without #" },
	{ "path /a { redirect 301 \"/\\\\b\" }",
	    "a target is written as in an address: other characters as "
	    "%XX, and without #" },
	{ "path /a { redirect 301 /\xc3\xa9" " }",
	    "a target is written as in an address: other characters as "
	    "%XX, and without #" },
	{ "path /a { redirect 301 /a/b }",
	    "this redirect leads clients into a loop" },
	{ "path /a { redirect 301 /a?x }",
	    "this redirect leads clients into a loop" },
	{ "path /a { return 201 }",
	    "\"201\" is not one of 403, 404, 410, 451, 500, 503" },
	{ "path /a { fallback x.html }",
	    "a path begins with /" },
	{ "fallback /",
	    "a page is a file, not a directory" },
	{ "fallback /a/",
	    "a page is a file, not a directory" },
	{ "fallback /a/../b",
	    "names that begin with a dot are not served" },
	{ "fallback /100%",
	    "the path of a page is written decoded, without %" },
	{ "error 404",
	    "\"404\" needs a value" },
	{ "error 399 /x",
	    "\"399\" is not one of 4xx, 5xx, *, 400, 401, 403, 404, 405, 406, 408, 410, "
	    "412, 413, 414, 416, 417, 429, 431, 451, 500, 501, 502, 503, 504, 505" },
	{ "error 600 /x",
	    "\"600\" is not one of 4xx, 5xx, *, 400, 401, 403, 404, 405, 406, "
	    "408, 410, 412, 413, 414, 416, 417, 429, 431, 451, 500, 501, 502, "
	    "503, 504, 505" },
	{ "error 4xx /a; error 404 4xx /b",
	    "error 4xx is given twice in this block" },
	{ "error 404 403", "a path begins with /" },
	{ "error 404 400 403 /x /y", "unexpected \"/y\" behind \"error\": a "
	    "value of several words needs double quotes (\")" },
	{ "error 404 403 /a; error 410 403 /b",
	    "error 403 is given twice in this block" },
	{ "error 404 off",
	    "a path begins with /" },
	{ "error 404 /a; error 403 /b; error 404 /c",
	    "error 404 is given twice in this block" },
	{ "path /a { alias /dev/null }", "/dev/null: Not a directory" },
};

START_TEST(bad_site_lines)
{
	struct buf	 text = { 0 };
	const char	*message;

	buf_addf(&text, "site a.org {\nlisten 127.0.0.9:80\nroot /\n%s\n}\n",
	    site_lines[_i].line);
	ck_assert_ptr_null(read_conf(buf_string(&text)));
	message = strstr(buf_string(&errors), ": ");
	ck_assert_ptr_nonnull(message);
	message += 2;
	ck_assert_msg(strncmp(message, site_lines[_i].want,
	    strlen(site_lines[_i].want)) == 0 &&
	    message[strlen(site_lines[_i].want)] == '\n', "%s",
	    buf_string(&errors));
	ck_assert_int_eq(strncmp(errors.at, "t.conf:5:", 9), 0);
	ck_assert_msg(strstr(message, "\nt.conf:") == NULL, "%s", message);
	buf_free(&text);
}
END_TEST

static const char *const good_lines[] = {
	"listen [fe80::1]:80", "listen *:0 127.0.0.1:0",
	"path /a/ { }; path /b { }", "path /a.b { }", "path /... { }", "path /100% { }", "path /%zz { }",
	"header Vary \"\tb \xff\"", "header !#%&'*+-.^_`|~9Z x",
	"index .htm ...", "include none/*",
	"path /a { redirect 301 /b/ }; path /b { redirect 307 http://x }",
	"path /a { redirect 301 /a/b }; path /a/b { root / }",
	"path /a { redirect 303 /c?d=%23&e }", "fallback \"/x y\"",
	"path /a { return 403; error 403 /a.html; fallback /b }",
	("header Cache-Control x; path /a { header remove Cache-Control\n"
	    "expires a/b 1d }"),
	"expires a/b 1d; path /a { header Cache-Control x }",
	"error 404 /a; path /a { error 404 /b }",
	"error * /a; error 4xx 5xx /b; error 400 502 504 599 /c",
	"header A always; header add B always always",
};

/* Each block files with fields has a bit of 16; others are as many as wanted. */
START_TEST(many_files)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	buf_adds(&text, "site a.org {\nlisten *:80\nroot /\n");
	for (int i = 0; i < 16; i++)
		buf_adds(&text, "files a { expires 1s }\n"
		    "files b { deny all }\n");
	conf = read_conf(buf_string(&text));
	ck_assert_ptr_null(conf);	/* its end is missing */
	buf_adds(&text, "}\n");
	conf = good(buf_string(&text));
	ck_assert_uint_eq(conf->sites[0].files[0].fields.bit, 1);
	ck_assert_uint_eq(conf->sites[0].files[1].fields.bit, 0);
	ck_assert_uint_eq(conf->sites[0].files[30].fields.bit, 1U << 15);
	conf_free(&conf);
	text.len -= 2;
	buf_adds(&text, "files c { type a/b }\n}\n");
	ck_assert_ptr_null(read_conf(buf_string(&text)));
	ck_assert_ptr_nonnull(strstr(buf_string(&errors), "t.conf:37:1: a site "
	    "has at most 16 blocks files with header, type or expires\n"));
	buf_free(&text);
}
END_TEST

START_TEST(good_site_lines)
{
	struct buf	 text = { 0 };
	struct conf	*conf;

	buf_addf(&text, "site a_b.org [::1] 127.0.0.1 {\n"
	    "listen 127.0.0.9:80\nroot /\n%s\n}\n", good_lines[_i]);
	conf = read_conf(buf_string(&text));
	ck_assert_msg(conf != NULL, "%s", buf_string(&errors));
	conf_free(&conf);
	buf_free(&text);
}
END_TEST

void
unit_tests(TCase *tests)
{
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_loop_test(tests, bad_confs, 0, COUNT(bads));
	tcase_add_loop_test(tests, bad_site_lines, 0, COUNT(site_lines));
	tcase_add_test(tests, many_files);
	tcase_add_loop_test(tests, good_site_lines, 0, COUNT(good_lines));
}
