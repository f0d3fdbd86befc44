package io.fibry.durable;

class LaterInMemoryTest extends LaterContract {
  LaterInMemoryTest() {
    super(true);
  }
}
