package io.fibry.durable;

class OldFormsInNatsTest extends OldFormsContract {
  OldFormsInNatsTest() {
    super(NatsStores.maker());
  }
}
