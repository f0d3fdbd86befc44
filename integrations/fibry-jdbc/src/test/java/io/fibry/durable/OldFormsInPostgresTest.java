package io.fibry.durable;

class OldFormsInPostgresTest extends OldFormsContract {
  OldFormsInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
