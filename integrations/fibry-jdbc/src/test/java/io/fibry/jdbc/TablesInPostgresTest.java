package io.fibry.jdbc;

class TablesInPostgresTest extends TablesContract {
  TablesInPostgresTest() {
    super(AtADatabase::postgres);
  }
}
