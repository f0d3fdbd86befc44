package io.fibry.jdbc;

class LoadsInH2Test extends LoadsContract {
  LoadsInH2Test() {
    super(DatabaseFixture::h2);
  }
}
