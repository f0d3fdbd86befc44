package io.fibry.durable;

class TransferInH2Test extends TransferContract {
  TransferInH2Test() {
    super(DatabaseStores.h2());
  }
}
