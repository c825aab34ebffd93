module example.com/config-shadowed

go 1.19
