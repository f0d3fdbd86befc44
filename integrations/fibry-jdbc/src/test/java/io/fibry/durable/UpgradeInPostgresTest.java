package io.fibry.durable;

class UpgradeInPostgresTest extends UpgradeContract {
  UpgradeInPostgresTest() {
    super(InDatabases.postgres());
  }
}
