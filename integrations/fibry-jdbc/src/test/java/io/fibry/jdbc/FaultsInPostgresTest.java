package io.fibry.jdbc;

class FaultsInPostgresTest extends FaultContract {
  FaultsInPostgresTest() {
    super(DatabaseFixture::postgres);
  }
}
