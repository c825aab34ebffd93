module example.com/stack-pop-empty

go 1.19
