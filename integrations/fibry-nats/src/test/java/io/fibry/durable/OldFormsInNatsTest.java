package io.fibry.durable;

class OldFormsInNatsTest extends OldFormsContract {
  OldFormsInNatsTest() {
    super(InNats.maker());
  }
}
