package io.fibry.durable;

class EndedActorsInPostgresTest extends EndedActorsContract {
  EndedActorsInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
