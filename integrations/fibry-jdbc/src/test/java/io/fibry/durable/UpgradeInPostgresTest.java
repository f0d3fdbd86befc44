package io.fibry.durable;

class UpgradeInPostgresTest extends UpgradeContract {
  UpgradeInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
