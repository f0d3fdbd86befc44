package io.fibry.durable;

class OutcomeInPostgresTest extends OutcomeContract {
  OutcomeInPostgresTest() {
    super(InDatabases.postgres());
  }
}
