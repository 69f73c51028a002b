autocmd BufNewFile,BufRead amped.conf,*/amped/*.conf,*/amped/sites/*.conf setfiletype amped
