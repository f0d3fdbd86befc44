package io.fibry.jdbc;

class StoreInH2Test extends StoreContract {
  StoreInH2Test() {
    super(AtADatabase::h2);
  }
}
