package io.fibry.durable;

class OutboxAndOnceInPostgresTest extends OutboxAndOnceContract {
  OutboxAndOnceInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
