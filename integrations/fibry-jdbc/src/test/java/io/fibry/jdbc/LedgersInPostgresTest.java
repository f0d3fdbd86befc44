package io.fibry.jdbc;

class LedgersInPostgresTest extends LedgersContract {
  LedgersInPostgresTest() {
    super(DatabaseFixture::postgres);
  }
}
