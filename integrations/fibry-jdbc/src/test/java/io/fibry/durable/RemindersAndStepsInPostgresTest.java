package io.fibry.durable;

class RemindersAndStepsInPostgresTest extends RemindersAndStepsContract {
  RemindersAndStepsInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
