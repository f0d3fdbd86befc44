package io.fibry.durable;

class TransferInMemoryTest extends TransferContract {
  TransferInMemoryTest() {
    super(true);
  }
}
