package io.fibry.jdbc;

class TablesInPostgresTest extends TablesContract {
  TablesInPostgresTest() {
    super(DatabaseFixture::postgres);
  }
}
