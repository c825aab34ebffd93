module example.com/withdraw-everything

go 1.19
