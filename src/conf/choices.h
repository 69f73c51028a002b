/*
 * choices: the words that a directive of type choice takes, as X-macros.
 */
#ifndef CONF_CHOICES_H
#define CONF_CHOICES_H

#include "helpers/filters/coding.h"

#define CONF_ARCHITECTURES(X)						\
	X(AMPED, "amped") X(SPED, "sped") X(MP, "mp") X(MT, "mt")	\
	X(PIPELINED, "pipelined")
#define CONF_RESIDENCIES(X)						\
	X(AUTO, "auto") X(NOWAIT, "nowait") X(MINCORE, "mincore")	\
	X(PREDICT, "predict") X(NEVER, "never")
#define CONF_POLICIES(X)						\
	X(LRU, "lru") X(SIEVE, "sieve") X(S3FIFO, "s3fifo")		\
	X(LFU, "lfu") X(GDSF, "gdsf") X(AUTO, "auto")
#define CONF_SANDBOXES(X)						\
	X(AUTO, "auto") X(OFF, "off") X(REQUIRED, "required")
#define CONF_LISTINGS(X)						\
	X(OFF, "off") X(HTML, "html") X(JSON, "json")
#define CONF_PRECOMPRESSED(X)	X(OFF, "off") CODINGS(X)
#define CONF_COMPRESS(X)	X(OFF, "off") X(ON, "on") CODINGS(X)
/* The form of lines of the error log. */
#define CONF_ERROR_FORMATS(X)	X(PLAIN, "plain") X(JSON, "json")
/* Whether a client needs an allowed network and a password, or one of them. */
#define CONF_SATISFIES(X)	X(ALL, "all") X(ANY, "any")
#define CONF_ETAGS(X)							\
	X(VERSION, "version") X(MODIFIED, "modified") X(CONTENT, "content")
/* The fields of requests by which proxies name their clients. */
#define CONF_TRUST_FIELDS(X)						\
	X(ANY, "any") X(FORWARDED, "forwarded")				\
	X(X_FORWARDED, "x-forwarded")					\
	X(X_FORWARDED_HOST, "x-forwarded-host") X(NONE, "none")
/* Parts of the caches that "cache off" disables, for measurements. */
#define CONF_ABLATIONS(X)						\
	X(PATHNAME, "pathname") X(HEADER, "header") X(CHUNK, "chunk")	\
	X(ALIGNMENT, "alignment") X(EDGES, "edges")
/* Of a program: no limit; it gains no privileges; it reaches only its files. */
#define CONF_CONFINEMENTS(X)						\
	X(OFF, "off") X(BASIC, "basic") X(FILES, "files")

enum conf_architecture {
#define X(id, name) ARCHITECTURE_##id,
	CONF_ARCHITECTURES(X)
#undef X
	ARCHITECTURE_COUNT
};

enum conf_residency {
#define X(id, name) RESIDENCY_##id,
	CONF_RESIDENCIES(X)
#undef X
	RESIDENCY_COUNT
};

enum conf_policy {
#define X(id, name) POLICY_##id,
	CONF_POLICIES(X)
#undef X
	POLICY_COUNT
};

enum conf_sandbox {
#define X(id, name) SANDBOX_##id,
	CONF_SANDBOXES(X)
#undef X
	SANDBOX_COUNT
};

enum conf_listing {
#define X(id, name) LISTING_##id,
	CONF_LISTINGS(X)
#undef X
	LISTING_COUNT
};

enum conf_error_format {
#define X(id, name) ERROR_FORMAT_##id,
	CONF_ERROR_FORMATS(X)
#undef X
	ERROR_FORMAT_COUNT
};

enum conf_satisfy {
#define X(id, name) SATISFY_##id,
	CONF_SATISFIES(X)
#undef X
	SATISFY_COUNT
};

enum conf_etag {
#define X(id, name) ETAG_##id,
	CONF_ETAGS(X)
#undef X
	ETAG_COUNT
};

enum conf_trust_fields {
#define X(id, name) TRUST_FIELDS_##id,
	CONF_TRUST_FIELDS(X)
#undef X
	TRUST_FIELDS_COUNT
};

enum conf_confinement {
#define X(id, name) CONFINEMENT_##id,
	CONF_CONFINEMENTS(X)
#undef X
	CONFINEMENT_COUNT
};

enum conf_ablation {
#define X(id, name) ABLATION_##id,
	CONF_ABLATIONS(X)
#undef X
	ABLATION_COUNT
};

#endif
