module example.com/log-entries-alias

go 1.19
