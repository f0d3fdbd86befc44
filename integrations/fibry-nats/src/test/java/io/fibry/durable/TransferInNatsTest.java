package io.fibry.durable;

class TransferInNatsTest extends TransferContract {
  TransferInNatsTest() {
    super(NatsStores.maker());
  }
}
