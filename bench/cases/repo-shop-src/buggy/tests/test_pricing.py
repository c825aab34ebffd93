from cornershop import Line, Order, price


def test_private():
    assert price(Order([Line("tea", 600, 2)])) == 1690


def test_private_with_coupon():
    assert price(Order([Line("tea", 600, 2)], coupon="FIVER")) == 1190


def test_business():
    assert price(Order([Line("tea", 600, 2)], business=True)) == 1490


def test_business_with_coupon():
    assert price(Order([Line("tea", 600, 2)], coupon="STAFF", business=True)) == 1240


def test_business_with_fixed_coupon():
    assert price(Order([Line("sofa", 60_500)], coupon="FIVER", business=True)) == 50_000


def test_free_delivery():
    assert price(Order([Line("chair", 5_000)])) == 5_000


def test_nothing():
    assert price(Order()) == 0
