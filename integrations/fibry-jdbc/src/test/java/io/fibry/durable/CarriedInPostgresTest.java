package io.fibry.durable;

class CarriedInPostgresTest extends CarriedContract {
  CarriedInPostgresTest() {
    super(InDatabases.postgres());
  }
}
