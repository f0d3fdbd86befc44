package io.fibry.durable;

class MoveInPostgresTest extends MoveContract {
  MoveInPostgresTest() {
    super(InDatabases.postgres());
  }
}
