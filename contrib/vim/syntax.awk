# syntax.awk: turns the list of directives that "amped -L" prints into Vim's
# syntax file for amped.conf(5).
#
#	amped -L | awk -f contrib/vim/syntax.awk
#
# A word is known where it may stand, at the beginning of a statement in its
# block; one that is not known there is an error, as it is for amped.

BEGIN {
	FS = "\t"
	# Names of kinds of values, which are no words of the conf.
	n = split("address charset directory field file filename name network " \
	    "number path pattern realm size target time type user text mode " \
	    "format program group command server", kinds, " ")
	for (i = 1; i <= n; i++)
		is_kind[kinds[i]] = 1
	at = "\\%(^\\s*\\|[;{}]\\s*\\)\\@<="
	before = "\\%(\\s\\)\\@<="
	behind = "\\ze\\%([ \\t;}]\\|$\\)"
	blocks[1] = "top"
	nblocks = 1
}

# Adds a word to an alternation, once.
function add(list, key, word) {
	if (word == "" || index("\\|" list[key] "\\|", "\\|" word "\\|"))
		return
	list[key] = list[key] == "" ? word : list[key] "\\|" word
}

function add_choices(block, type,	words, n, i) {
	n = split(type, words, /[| ]/)
	for (i = 1; i <= n; i++)
		if (words[i] ~ /^[a-z0-9]+$/ && !(words[i] in is_kind))
			add(choices, block, words[i])
}

function group(block) {
	return "amped" toupper(substr(block, 1, 1)) substr(block, 2)
}

$1 == "any" { any[++nany] = $2; next }
$4 == "block" {
	blocks[++nblocks] = $2
	inside[$2] = $1
	next
}
{
	add(words, $1, $2)
	add(parts, $1, $3)
	add_choices($1, $4)
}

function item(name, pattern, contained) {
	printf "syn match %s \"%s\"%s\n", name, pattern, contained
}

# What may stand in a block; the later of two that match is taken.
function print_words(block,	g, c, i) {
	g = group(block)
	c = block == "top" ? "" : " contained"
	item(g "Error", at "[^ \\t#;{}\\\"]\\+", c)
	if (choices[block] != "")
		item(g "Choice", before "\\%(" choices[block] "\\)" behind, c)
	if (parts[block] != "")
		item(g "Part", before "\\%(" parts[block] "\\)" behind, c)
	for (i = 1; i <= nany; i++)
		add(words, block, any[i])
	item(g "Word", at "\\%(" words[block] "\\)" behind, c)
	printf "hi def link %sError Error\n", g
	printf "hi def link %sChoice Constant\n", g
	printf "hi def link %sPart Type\n", g
	printf "hi def link %sWord Keyword\n", g
}

function print_block(block,	g, i, c) {
	g = group(block)
	c = inside[block] == "top" ? "" : " contained"
	printf "syn match %sBlock \"%s%s\\>\"%s nextgroup=%sNames,%sBody " \
	    "skipwhite\n", g, at, block, c, g, g
	printf "syn match %sNames \"[^ \\t#{][^#{]*\" contained " \
	    "nextgroup=%sBody\n", g, g
	printf "syn region %sBody matchgroup=ampedBrace start=\"{\" " \
	    "end=\"}\" contained fold contains=@ampedValue", g
	printf ",%sError,%sChoice,%sPart,%sWord", g, g, g, g
	for (i = 1; i <= nblocks; i++)
		if (inside[blocks[i]] == block)
			printf ",%sBlock", group(blocks[i])
	printf "\n"
	printf "hi def link %sBlock Statement\n", g
	printf "hi def link %sNames Identifier\n", g
}

END {
	print "\" Vim syntax file, made from the list that amped -L prints."
	print "\" Language: amped.conf(5)"
	print "if exists(\"b:current_syntax\")\n\tfinish\nendif"
	print "let s:cpo = &cpo\nset cpo&vim\n"
	for (i = 1; i <= nblocks; i++)
		print_words(blocks[i])
	for (i = 2; i <= nblocks; i++)
		print_block(blocks[i])
	print "syn cluster ampedValue contains=ampedNumber," \
	    "ampedString,ampedComment"
	item("ampedNumber", before "\\d\\+\\%([KMG]\\|ms\\|[smhd]\\)\\=" behind, "")
	print "syn region ampedString start=/\"/ skip=/\\\\./ end=/\"/ oneline"
	print "syn match ampedComment \"\\%(^\\|\\s\\)\\@<=#.*\" " \
	    "contains=@Spell"
	print "hi def link ampedBrace Delimiter"
	print "hi def link ampedNumber Number"
	print "hi def link ampedString String"
	print "hi def link ampedComment Comment\n"
	print "syn sync fromstart"
	print "let b:current_syntax = \"amped\""
	print "let &cpo = s:cpo\nunlet s:cpo"
}
