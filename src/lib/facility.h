/*
 * facility: names and numbers of syslog's facilities (RFC 5424, section 6.2.1).
 */
#ifndef LIB_FACILITY_H
#define LIB_FACILITY_H

#define FACILITIES(X)							\
	X(USER, "user", 1) X(MAIL, "mail", 2) X(DAEMON, "daemon", 3)	\
	X(AUTH, "auth", 4) X(SYSLOG, "syslog", 5) X(LPR, "lpr", 6)	\
	X(NEWS, "news", 7) X(UUCP, "uucp", 8) X(CRON, "cron", 9)	\
	X(AUTHPRIV, "authpriv", 10) X(FTP, "ftp", 11)			\
	X(LOCAL0, "local0", 16) X(LOCAL1, "local1", 17)			\
	X(LOCAL2, "local2", 18) X(LOCAL3, "local3", 19)			\
	X(LOCAL4, "local4", 20) X(LOCAL5, "local5", 21)			\
	X(LOCAL6, "local6", 22) X(LOCAL7, "local7", 23)

enum facility {
#define X(id, name, number) FACILITY_##id,
	FACILITIES(X)
#undef X
	FACILITY_COUNT
};

static inline const char *
facility_name(enum facility f)
{
	static const char *const	names[] = {
#define X(id, name, number) name,
		FACILITIES(X)
#undef X
	};

	return names[f];
}

#endif
