// Written by internal/search/letters_generate.go. Each letter is followed by what it is for a search.
export const sameLetters =
  "ςσ æae ðd øo þth đd ħh ıi łl œoe ŧt ƀb ƃb ƈc ƌd ƍzw ƒf ƙk ƚl ƞn ƥp ƫt ƭt ƴy ƶz ƺʒ ƾʖ ǥg ȡd ȥz ȴl ȵn " +
  "ȶt ȷj ȸdb ȹqp ȼc ȿs ɀz ɇe ɉj ɋq ɍr ɏy ɓb ɕc ɖd ɗd ɚə ɝɜ ɟj ɠg ɦh ɧꜧ ɨi ɫl ɬl ɭl ɰɯ ɱm ɲn ɳn ɺɹ ɻɹ " +
  "ɼr ɽr ɾr ʂs ʄj ʆʃ ʈt ʋv ʐz ʑz ʓʒ ʛɢ ʝj ʠq ʡʔ ʣdz ʤdʒ ʥdz ʦts ʧtʃ ʨtc ʩfŋ ʪls ʫlz ʮɥ ʯɥ ѽѡ ҏр ґг ғг ҕг җж " +
  "ҙз қк ҝк ҟк ңн ҧп ҫс ҭт ұү ҳх ҷч ҹч ҿҽ ӄк ӆл ӈн ӊн ӎм ӷг ӻг ӽх ӿх ԓл ԡл ԣн ԥп ԧһ ԩн ԯл ֈյ ךכ םמ " +
  "ןנ ףפ ץצ װוו ױוי ײיי ةه ػك ؼك ؽي ؾي ؿي ىي ٮب ٯق ٱا ٲا ٳا ٴء ټت ٽت ځح ڂح څح ډد ڊد ڋد ڏد ڐد ڒر ړر ڔر " +
  "ڕر ږر ڗر ڙر ښس ڛس ڜس ڝص ڞص ڟط ڠع ڡف ڢف ڣف ڥف ڧق ڨق کك ګك ڬك ڮك ڰگ ڲگ ڴگ ڵل ڶل ڷل ڸل ڹن ڼن ڽن ھه " +
  "ڿچ ہه ۃه ۄو ۊو یي ۍي ێي ۏو ۑي ەه ۥو ۦي ۮد ۯر ۺش ۻض ۼغ ۿه";
