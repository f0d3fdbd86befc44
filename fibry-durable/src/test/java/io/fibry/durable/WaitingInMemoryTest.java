package io.fibry.durable;

class WaitingInMemoryTest extends WaitingContract {
  WaitingInMemoryTest() {
    super(true);
  }
}
