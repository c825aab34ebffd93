package bank

import "testing"

func TestDeposit(t *testing.T) {
	a := Account{Balance: 5}
	a.Deposit(1)
	a.Deposit(0)
	if a.Balance != 6 {
		t.Errorf("balance %d, want 6", a.Balance)
	}
}

func TestWithdrawSome(t *testing.T) {
	a := Account{Balance: 10}
	if err := a.Withdraw(4); err != nil || a.Balance != 6 {
		t.Errorf("balance %d, error %v", a.Balance, err)
	}
}

func TestWithdrawTooMuch(t *testing.T) {
	a := Account{Balance: 10}
	if err := a.Withdraw(11); err != ErrFunds {
		t.Errorf("error %v, want ErrFunds", err)
	}
}

func TestWithdrawAll(t *testing.T) {
	a := Account{Balance: 10}
	if err := a.Withdraw(10); err != nil || a.Balance != 0 {
		t.Errorf("balance %d, error %v", a.Balance, err)
	}
}
