package io.fibry.durable;

class InPostgresTest extends DurableContract {
  InPostgresTest() {
    super(InDatabases.postgres());
  }
}
