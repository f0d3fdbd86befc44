package io.fibry.durable;

class AsideInPostgresTest extends AsideContract {
  AsideInPostgresTest() {
    super(InDatabases.postgres());
  }
}
