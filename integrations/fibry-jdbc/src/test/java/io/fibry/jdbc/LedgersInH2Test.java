package io.fibry.jdbc;

class LedgersInH2Test extends LedgersContract {
  LedgersInH2Test() {
    super(DatabaseFixture::h2);
  }
}
