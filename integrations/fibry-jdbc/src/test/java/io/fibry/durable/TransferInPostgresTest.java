package io.fibry.durable;

class TransferInPostgresTest extends TransferContract {
  TransferInPostgresTest() {
    super(DatabaseStores.postgres());
  }
}
