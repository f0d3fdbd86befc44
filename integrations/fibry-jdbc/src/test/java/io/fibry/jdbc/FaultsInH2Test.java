package io.fibry.jdbc;

class FaultsInH2Test extends FaultContract {
  FaultsInH2Test() {
    super(DatabaseFixture::h2);
  }
}
