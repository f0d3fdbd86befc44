package io.fibry.durable;

class WaitingInPostgresTest extends WaitingContract {
  WaitingInPostgresTest() {
    super(InDatabases.postgres());
  }
}
