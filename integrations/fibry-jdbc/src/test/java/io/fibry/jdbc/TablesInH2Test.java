package io.fibry.jdbc;

class TablesInH2Test extends TablesContract {
  TablesInH2Test() {
    super(AtADatabase::h2);
  }
}
