package bank

import "errors"

// ErrFunds says that an account holds too little.
var ErrFunds = errors.New("not enough funds")

// Account is one customer's account, in cents.
type Account struct {
	Owner   string
	Balance int
}

// Deposit puts money in; nothing happens for amounts below one.
func (a *Account) Deposit(cents int) {
	if cents < 1 {
		return
	}
	a.Balance += cents
}

// Withdraw takes money out.
func (a *Account) Withdraw(cents int) error {
	if cents >= a.Balance {
		return ErrFunds
	}
	a.Balance -= cents
	return nil
}
