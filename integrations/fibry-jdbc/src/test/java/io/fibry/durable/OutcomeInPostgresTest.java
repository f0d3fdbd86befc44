package io.fibry.durable;

class OutcomeInPostgresTest extends OutcomeContract {
  OutcomeInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
