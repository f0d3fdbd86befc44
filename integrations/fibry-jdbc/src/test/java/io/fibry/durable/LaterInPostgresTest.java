package io.fibry.durable;

class LaterInPostgresTest extends LaterContract {
  LaterInPostgresTest() {
    super(InDatabases.postgres());
  }
}
