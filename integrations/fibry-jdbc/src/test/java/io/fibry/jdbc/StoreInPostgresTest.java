package io.fibry.jdbc;

class StoreInPostgresTest extends StoreContract {
  StoreInPostgresTest() {
    super(AtADatabase::postgres);
  }
}
