package io.fibry.durable;

class InPostgresTest extends DurableContract {
  InPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
