package io.fibry.durable;

class OldFormsInAFolderTest extends OldFormsContract {
  OldFormsInAFolderTest() {
    super(Folders::new);
  }
}
