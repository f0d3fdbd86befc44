package io.fibry.durable;

class StoreCopyInPostgresTest extends StoreCopyContract {
  StoreCopyInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
