package io.fibry.durable;

class EndedInPostgresTest extends EndedContract {
  EndedInPostgresTest() {
    super(InDatabases.postgres());
  }
}
