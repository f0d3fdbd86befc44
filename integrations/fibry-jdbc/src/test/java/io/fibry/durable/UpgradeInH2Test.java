package io.fibry.durable;

class UpgradeInH2Test extends UpgradeContract {
  UpgradeInH2Test() {
    super(DatabaseStores.h2());
  }
}
