module example.com/branch-names

go 1.19
